; Made by llvm_from_c.py from sources with the digest 3e5d9a9123b90db92880808156ac0f44
; with ziglang 0.17.1

%struct.output_record = type { ptr, ptr, i64, i64, i64, i64, ptr }

define ptr @grow(ptr %0, i64 %1) nounwind {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %4 = load i64, ptr %3, align 8
  %5 = add i64 %4, %1
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = icmp ugt i64 %5, %7
  br i1 %8, label %11, label %9

9:
  store i64 %5, ptr %3, align 8
  %10 = inttoptr i64 %4 to ptr
  br label %31

11:
  %12 = add i64 %1, 128
  %13 = load i64, ptr %0, align 8
  %14 = inttoptr i64 %13 to ptr
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds nuw i8, ptr %15, i64 16
  %17 = load ptr, ptr %16, align 8
  %18 = tail call ptr %17(i64 %12)
  %19 = icmp eq ptr %18, null
  br i1 %19, label %31, label %20

20:
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %22 = load i64, ptr %21, align 8
  %23 = inttoptr i64 %22 to ptr
  store ptr %23, ptr %18, align 8
  %24 = getelementptr inbounds nuw i8, ptr %18, i64 8
  store i64 %12, ptr %24, align 8
  %25 = ptrtoint ptr %18 to i64
  store i64 %25, ptr %21, align 8
  %26 = getelementptr inbounds nuw i8, ptr %18, i64 16
  %27 = ptrtoint ptr %26 to i64
  %28 = add i64 %27, 63
  %29 = and i64 %28, -64
  %30 = inttoptr i64 %29 to ptr
  br label %31

31:
  %32 = phi ptr [ %10, %9 ], [ %30, %20 ], [ null, %11 ]
  ret ptr %32
}

define ptr @alloc_output(ptr %0, i64 %1, ptr %2) nounwind {
  %4 = load i64, ptr %0, align 8
  %5 = inttoptr i64 %4 to ptr
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %7 = getelementptr inbounds %struct.output_record, ptr %6, i64 %1
  %8 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq ptr %9, null
  br i1 %10, label %27, label %11

11:
  %12 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %13 = load i64, ptr %12, align 8
  %14 = icmp sgt i64 %13, 0
  br i1 %14, label %17, label %15

15:
  %16 = getelementptr inbounds nuw i8, ptr %7, i64 16
  br label %46

17:
  %18 = phi i64 [ %23, %17 ], [ 0, %11 ]
  %19 = phi i64 [ %22, %17 ], [ 1, %11 ]
  %20 = getelementptr inbounds nuw i64, ptr %9, i64 %18
  %21 = load i64, ptr %20, align 8
  %22 = mul i64 %21, %19
  %23 = add nuw nsw i64 %18, 1
  %24 = icmp eq i64 %23, %13
  br i1 %24, label %25, label %17

25:
  %26 = getelementptr inbounds nuw i8, ptr %7, i64 16
  br label %34

27:
  %28 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %31 = load i64, ptr %30, align 8
  %32 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %33 = icmp sgt i64 %31, 0
  br i1 %33, label %34, label %46

34:
  %35 = phi ptr [ %26, %25 ], [ %32, %27 ]
  %36 = phi i64 [ %22, %25 ], [ %29, %27 ]
  %37 = phi i64 [ %13, %25 ], [ %31, %27 ]
  br label %38

38:
  %39 = phi i64 [ %44, %38 ], [ 0, %34 ]
  %40 = phi i64 [ %43, %38 ], [ 1, %34 ]
  %41 = getelementptr inbounds nuw i64, ptr %2, i64 %39
  %42 = load i64, ptr %41, align 8
  %43 = mul i64 %42, %40
  %44 = add nuw nsw i64 %39, 1
  %45 = icmp eq i64 %44, %37
  br i1 %45, label %46, label %38

46:
  %47 = phi ptr [ %32, %27 ], [ %16, %15 ], [ %35, %38 ]
  %48 = phi i64 [ %29, %27 ], [ 1, %15 ], [ %36, %38 ]
  %49 = phi i64 [ %31, %27 ], [ %13, %15 ], [ %37, %38 ]
  %50 = phi i64 [ 1, %27 ], [ 1, %15 ], [ %43, %38 ]
  %51 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %52 = load i64, ptr %51, align 8
  %53 = icmp eq i64 %52, 0
  br i1 %53, label %95, label %54

54:
  %55 = shl i64 %49, 3
  %56 = add i64 %55, 63
  %57 = and i64 %56, -64
  %58 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %59 = load i64, ptr %58, align 8
  %60 = mul i64 %59, %50
  %61 = add i64 %57, 127
  %62 = add i64 %61, %60
  %63 = and i64 %62, -64
  %64 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %65 = load i64, ptr %64, align 8
  %66 = add i64 %63, %65
  %67 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %68 = load i64, ptr %67, align 8
  %69 = icmp ugt i64 %66, %68
  br i1 %69, label %71, label %70

70:
  store i64 %66, ptr %64, align 8
  br label %90

71:
  %72 = add i64 %63, 128
  %73 = load ptr, ptr %5, align 8
  %74 = getelementptr inbounds nuw i8, ptr %73, i64 16
  %75 = load ptr, ptr %74, align 8
  %76 = tail call ptr %75(i64 %72)
  %77 = icmp eq ptr %76, null
  br i1 %77, label %78, label %80

78:
  %79 = getelementptr inbounds nuw i8, ptr %7, i64 48
  store ptr null, ptr %79, align 8
  br label %126

80:
  %81 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %82 = load i64, ptr %81, align 8
  %83 = inttoptr i64 %82 to ptr
  store ptr %83, ptr %76, align 8
  %84 = getelementptr inbounds nuw i8, ptr %76, i64 8
  store i64 %72, ptr %84, align 8
  %85 = ptrtoint ptr %76 to i64
  store i64 %85, ptr %81, align 8
  %86 = getelementptr inbounds nuw i8, ptr %76, i64 16
  %87 = ptrtoint ptr %86 to i64
  %88 = add i64 %87, 63
  %89 = and i64 %88, -64
  br label %90

90:
  %91 = phi i64 [ %65, %70 ], [ %89, %80 ]
  %92 = inttoptr i64 %91 to ptr
  %93 = getelementptr inbounds nuw i8, ptr %7, i64 48
  store ptr %92, ptr %93, align 8
  %94 = icmp eq i64 %91, 0
  br i1 %94, label %126, label %95

95:
  %96 = phi ptr [ %92, %90 ], [ %9, %46 ]
  %97 = icmp eq ptr %96, null
  br i1 %97, label %109, label %98

98:
  %99 = load i64, ptr %47, align 8
  %100 = icmp sgt i64 %99, 0
  br i1 %100, label %101, label %109

101:
  %102 = phi i64 [ %106, %101 ], [ 0, %98 ]
  %103 = getelementptr inbounds nuw i64, ptr %2, i64 %102
  %104 = load i64, ptr %103, align 8
  %105 = getelementptr inbounds nuw i64, ptr %96, i64 %102
  store i64 %104, ptr %105, align 8
  %106 = add nuw nsw i64 %102, 1
  %107 = load i64, ptr %47, align 8
  %108 = icmp slt i64 %106, %107
  br i1 %108, label %101, label %109

109:
  %110 = load i64, ptr %51, align 8
  %111 = icmp eq i64 %110, 0
  br i1 %111, label %118, label %112

112:
  %113 = load i64, ptr %47, align 8
  %114 = shl i64 %113, 3
  %115 = add i64 %114, 63
  %116 = and i64 %115, -64
  %117 = getelementptr inbounds i8, ptr %96, i64 %116
  br label %126

118:
  %119 = icmp sgt i64 %50, %48
  br i1 %119, label %120, label %122

120:
  %121 = getelementptr inbounds nuw i8, ptr %5, i64 16
  store i64 -4, ptr %121, align 8
  br label %126

122:
  %123 = icmp eq i64 %50, 0
  br i1 %123, label %126, label %124

124:
  %125 = load ptr, ptr %7, align 8
  br label %126

126:
  %127 = phi ptr [ %117, %112 ], [ null, %120 ], [ null, %90 ], [ %125, %124 ], [ %0, %122 ], [ null, %78 ]
  ret ptr %127
}

define ptr @take(ptr %0, i64 %1, i64 %2, i64 %3) nounwind {
  %5 = mul i64 %2, 24
  %6 = getelementptr i8, ptr %0, i64 %5
  %7 = getelementptr i8, ptr %6, i64 40
  %8 = load i64, ptr %7, align 8
  %9 = inttoptr i64 %8 to ptr
  %10 = icmp eq i64 %8, 0
  %11 = select i1 %10, ptr %0, ptr %9
  ret ptr %11
}

define i64 @poll(ptr %0) nounwind {
  ret i64 0
}

define i64 @run(ptr %0) nounwind {
  %2 = alloca [2048 x i8], align 64
  %3 = load i64, ptr %0, align 8
  %4 = inttoptr i64 %3 to ptr
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 32
  %7 = load atomic i64, ptr %6 monotonic, align 8
  %8 = icmp sgt i64 %7, 2048
  br i1 %8, label %9, label %15

9:
  %10 = getelementptr inbounds nuw i8, ptr %5, i64 16
  %11 = load ptr, ptr %10, align 8
  %12 = add nuw i64 %7, 64
  %13 = tail call ptr %11(i64 %12)
  %14 = icmp eq ptr %13, null
  br i1 %14, label %209, label %15

15:
  %16 = phi ptr [ %13, %9 ], [ null, %1 ]
  %17 = phi i64 [ %7, %9 ], [ 2048, %1 ]
  %18 = icmp eq ptr %16, null
  %19 = ptrtoint ptr %16 to i64
  %20 = add i64 %19, 63
  %21 = and i64 %20, -64
  %22 = ptrtoint ptr %2 to i64
  %23 = select i1 %18, i64 %22, i64 %21
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store i64 %23, ptr %24, align 8
  %25 = add i64 %23, %17
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store i64 %25, ptr %26, align 8
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 32
  store i64 0, ptr %27, align 8
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 24
  store i64 0, ptr %28, align 8
  %29 = load ptr, ptr %5, align 8
  %30 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %31 = load ptr, ptr %30, align 8
  %32 = call i64 %29(ptr %0, ptr %31)
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %34, label %176

34:
  %35 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %36 = load i64, ptr %35, align 8
  %37 = icmp sgt i64 %36, 0
  br i1 %37, label %38, label %181

38:
  %39 = getelementptr inbounds nuw i8, ptr %4, i64 24
  br label %40

40:
  %41 = phi i64 [ 0, %38 ], [ %99, %98 ]
  %42 = getelementptr inbounds nuw %struct.output_record, ptr %39, i64 %41
  %43 = getelementptr inbounds nuw i8, ptr %42, i64 48
  %44 = load ptr, ptr %43, align 8
  %45 = icmp eq ptr %44, null
  br i1 %45, label %98, label %46

46:
  %47 = getelementptr inbounds nuw i8, ptr %42, i64 16
  %48 = load i64, ptr %47, align 8
  %49 = icmp sgt i64 %48, 0
  br i1 %49, label %50, label %62

50:
  %51 = phi i64 [ %56, %50 ], [ 0, %46 ]
  %52 = phi i64 [ %55, %50 ], [ 1, %46 ]
  %53 = getelementptr inbounds nuw i64, ptr %44, i64 %51
  %54 = load i64, ptr %53, align 8
  %55 = mul i64 %54, %52
  %56 = add nuw nsw i64 %51, 1
  %57 = icmp eq i64 %56, %48
  br i1 %57, label %58, label %50

58:
  %59 = getelementptr inbounds nuw i8, ptr %42, i64 8
  %60 = load ptr, ptr %59, align 8
  %61 = icmp eq ptr %60, null
  br i1 %61, label %80, label %66

62:
  %63 = getelementptr inbounds nuw i8, ptr %42, i64 8
  %64 = load ptr, ptr %63, align 8
  %65 = icmp eq ptr %64, null
  br i1 %65, label %80, label %98

66:
  %67 = phi i64 [ %72, %66 ], [ 0, %58 ]
  %68 = phi i64 [ %71, %66 ], [ 1, %58 ]
  %69 = getelementptr inbounds nuw i64, ptr %60, i64 %67
  %70 = load i64, ptr %69, align 8
  %71 = mul i64 %70, %68
  %72 = add nuw nsw i64 %67, 1
  %73 = icmp eq i64 %72, %48
  br i1 %73, label %74, label %66

74:
  %75 = icmp sgt i64 %55, %71
  br i1 %75, label %76, label %98

76:
  %77 = getelementptr inbounds nuw i8, ptr %42, i64 48
  %78 = getelementptr inbounds nuw i8, ptr %42, i64 16
  %79 = getelementptr inbounds nuw i8, ptr %42, i64 8
  br label %85

80:
  %81 = phi i64 [ 1, %62 ], [ %55, %58 ]
  %82 = getelementptr inbounds nuw i8, ptr %42, i64 32
  %83 = load i64, ptr %82, align 8
  %84 = icmp sgt i64 %81, %83
  br i1 %84, label %181, label %98

85:
  %86 = phi ptr [ %96, %90 ], [ %60, %76 ]
  %87 = phi i64 [ %95, %90 ], [ 0, %76 ]
  %88 = load i64, ptr %78, align 8
  %89 = icmp slt i64 %87, %88
  br i1 %89, label %90, label %181

90:
  %91 = load ptr, ptr %77, align 8
  %92 = getelementptr inbounds nuw i64, ptr %91, i64 %87
  %93 = load i64, ptr %92, align 8
  %94 = getelementptr inbounds nuw i64, ptr %86, i64 %87
  store i64 %93, ptr %94, align 8
  %95 = add nuw nsw i64 %87, 1
  %96 = load ptr, ptr %79, align 8
  %97 = icmp eq ptr %96, null
  br i1 %97, label %181, label %85

98:
  %99 = add nuw nsw i64 %41, 1
  %100 = icmp eq i64 %99, %36
  br i1 %100, label %101, label %40

101:
  %102 = phi i64 [ %173, %172 ], [ 0, %98 ]
  %103 = getelementptr inbounds nuw %struct.output_record, ptr %39, i64 %102
  %104 = getelementptr inbounds nuw i8, ptr %103, i64 48
  %105 = load ptr, ptr %104, align 8
  %106 = icmp eq ptr %105, null
  br i1 %106, label %172, label %107

107:
  %108 = getelementptr inbounds nuw i8, ptr %103, i64 16
  %109 = load i64, ptr %108, align 8
  %110 = icmp sgt i64 %109, 0
  br i1 %110, label %111, label %121

111:
  %112 = phi i64 [ %117, %111 ], [ 0, %107 ]
  %113 = phi i64 [ %116, %111 ], [ 1, %107 ]
  %114 = getelementptr inbounds nuw i64, ptr %105, i64 %112
  %115 = load i64, ptr %114, align 8
  %116 = mul i64 %115, %113
  %117 = add nuw nsw i64 %112, 1
  %118 = icmp eq i64 %117, %109
  br i1 %118, label %119, label %111

119:
  %120 = icmp eq i64 %116, 0
  br i1 %120, label %155, label %121

121:
  %122 = phi i64 [ %116, %119 ], [ 1, %107 ]
  %123 = load ptr, ptr %103, align 8
  %124 = shl i64 %109, 3
  %125 = add i64 %124, 63
  %126 = and i64 %125, -64
  %127 = getelementptr inbounds i8, ptr %105, i64 %126
  %128 = getelementptr inbounds nuw i8, ptr %103, i64 24
  %129 = load i64, ptr %128, align 8
  %130 = mul i64 %129, %122
  %131 = icmp sgt i64 %130, 7
  br i1 %131, label %137, label %132

132:
  %133 = phi i64 [ %130, %121 ], [ %142, %137 ]
  %134 = phi ptr [ %123, %121 ], [ %143, %137 ]
  %135 = phi ptr [ %127, %121 ], [ %144, %137 ]
  %136 = icmp sgt i64 %133, 0
  br i1 %136, label %146, label %155

137:
  %138 = phi ptr [ %144, %137 ], [ %127, %121 ]
  %139 = phi ptr [ %143, %137 ], [ %123, %121 ]
  %140 = phi i64 [ %142, %137 ], [ %130, %121 ]
  %141 = load i64, ptr %138, align 1
  store i64 %141, ptr %139, align 1
  %142 = add nsw i64 %140, -8
  %143 = getelementptr inbounds nuw i8, ptr %139, i64 8
  %144 = getelementptr inbounds nuw i8, ptr %138, i64 8
  %145 = icmp samesign ugt i64 %140, 15
  br i1 %145, label %137, label %132

146:
  %147 = phi ptr [ %150, %146 ], [ %135, %132 ]
  %148 = phi ptr [ %152, %146 ], [ %134, %132 ]
  %149 = phi i64 [ %153, %146 ], [ %133, %132 ]
  %150 = getelementptr inbounds nuw i8, ptr %147, i64 1
  %151 = load i8, ptr %147, align 1
  %152 = getelementptr inbounds nuw i8, ptr %148, i64 1
  store i8 %151, ptr %148, align 1
  %153 = add nsw i64 %149, -1
  %154 = icmp samesign ugt i64 %149, 1
  br i1 %154, label %146, label %155

155:
  %156 = getelementptr inbounds nuw i8, ptr %103, i64 8
  %157 = load ptr, ptr %156, align 8
  %158 = icmp eq ptr %157, null
  br i1 %158, label %172, label %159

159:
  %160 = phi ptr [ %170, %164 ], [ %157, %155 ]
  %161 = phi i64 [ %169, %164 ], [ 0, %155 ]
  %162 = load i64, ptr %108, align 8
  %163 = icmp slt i64 %161, %162
  br i1 %163, label %164, label %172

164:
  %165 = load ptr, ptr %104, align 8
  %166 = getelementptr inbounds nuw i64, ptr %165, i64 %161
  %167 = load i64, ptr %166, align 8
  %168 = getelementptr inbounds nuw i64, ptr %160, i64 %161
  store i64 %167, ptr %168, align 8
  %169 = add nuw nsw i64 %161, 1
  %170 = load ptr, ptr %156, align 8
  %171 = icmp eq ptr %170, null
  br i1 %171, label %172, label %159

172:
  %173 = add nuw nsw i64 %102, 1
  %174 = load i64, ptr %35, align 8
  %175 = icmp slt i64 %173, %174
  br i1 %175, label %101, label %181

176:
  %177 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %178 = load i64, ptr %177, align 8
  %179 = icmp eq i64 %178, 0
  %180 = select i1 %179, i64 %32, i64 %178
  br label %181

181:
  %182 = phi i64 [ %180, %176 ], [ -4, %90 ], [ 0, %172 ], [ 0, %34 ], [ -4, %85 ], [ -4, %80 ]
  br i1 %18, label %186, label %183

183:
  %184 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %185 = load ptr, ptr %184, align 8
  call void %185(ptr %16)
  br label %186

186:
  %187 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %188 = load ptr, ptr %187, align 8
  %189 = load i64, ptr %28, align 8
  %190 = icmp eq i64 %189, 0
  br i1 %190, label %209, label %191

191:
  %192 = inttoptr i64 %189 to ptr
  br label %193

193:
  %194 = phi i64 [ %199, %193 ], [ 0, %191 ]
  %195 = phi ptr [ %196, %193 ], [ %192, %191 ]
  %196 = load ptr, ptr %195, align 8
  %197 = getelementptr inbounds nuw i8, ptr %195, i64 8
  %198 = load i64, ptr %197, align 8
  %199 = add i64 %198, %194
  call void %188(ptr %195)
  %200 = icmp eq ptr %196, null
  br i1 %200, label %201, label %193

201:
  %202 = icmp eq i64 %199, 0
  br i1 %202, label %209, label %203

203:
  %204 = add nuw i64 %17, 63
  %205 = add i64 %204, %199
  %206 = and i64 %205, -64
  %207 = icmp slt i64 %206, 67108865
  br i1 %207, label %208, label %209

208:
  store atomic i64 %206, ptr %6 monotonic, align 8
  br label %209

209:
  %210 = phi i64 [ -1, %9 ], [ %182, %203 ], [ %182, %208 ], [ %182, %201 ], [ %182, %186 ]
  ret i64 %210
}

