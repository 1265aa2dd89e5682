; Made by llvm_from_c.py from sources with the digest abc6269d82068274df2bdada29970d9b
; with ziglang 0.17.1

%struct.input_record = type { i64, i64, i64, i64, i64, ptr, i64, ptr }

@calls = internal global i64 0, align 8

define ptr @grow(ptr %0, i64 %1) {
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
  br label %43

11:
  %12 = add i64 %1, 128
  %13 = load i64, ptr %0, align 8
  %14 = inttoptr i64 %13 to ptr
  %15 = getelementptr inbounds nuw i8, ptr %14, i64 120
  %16 = load ptr, ptr %15, align 8
  %17 = tail call ptr %16(i64 %12)
  %18 = icmp eq ptr %17, null
  br i1 %18, label %43, label %19

19:
  %20 = getelementptr inbounds nuw i8, ptr %14, i64 248
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  %23 = icmp slt i64 %12, 4194304
  %24 = or i1 %23, %22
  %25 = ptrtoint ptr %17 to i64
  br i1 %24, label %33, label %26

26:
  %27 = add i64 %25, 4095
  %28 = and i64 %27, -4096
  %29 = inttoptr i64 %28 to ptr
  %30 = add i64 %12, %25
  %31 = sub i64 %30, %28
  %32 = tail call i32 %21(ptr %29, i64 %31, i32 14)
  br label %33

33:
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %35 = load i64, ptr %34, align 8
  %36 = inttoptr i64 %35 to ptr
  store ptr %36, ptr %17, align 8
  %37 = getelementptr inbounds nuw i8, ptr %17, i64 8
  store i64 %12, ptr %37, align 8
  store i64 %25, ptr %34, align 8
  %38 = getelementptr inbounds nuw i8, ptr %17, i64 16
  %39 = ptrtoint ptr %38 to i64
  %40 = add i64 %39, 63
  %41 = and i64 %40, -64
  %42 = inttoptr i64 %41 to ptr
  br label %43

43:
  %44 = phi ptr [ %10, %9 ], [ %42, %33 ], [ null, %11 ]
  ret ptr %44
}

define ptr @alloc_output(ptr %0, i64 %1, ptr %2) {
  %4 = load i64, ptr %0, align 8
  %5 = inttoptr i64 %4 to ptr
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %13, label %9

9:
  %10 = getelementptr inbounds nuw i8, ptr %5, i64 184
  %11 = load ptr, ptr %10, align 8
  %12 = inttoptr i64 %7 to ptr
  tail call void %11(ptr %12)
  store i64 0, ptr %6, align 8
  br label %13

13:
  %14 = getelementptr inbounds nuw i8, ptr %5, i64 264
  %15 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr %struct.input_record, ptr %14, i64 %16
  %18 = getelementptr %struct.input_record, ptr %17, i64 %1
  %19 = getelementptr inbounds nuw i8, ptr %18, i64 24
  %20 = load ptr, ptr %19, align 8
  %21 = icmp eq ptr %20, null
  br i1 %21, label %42, label %22

22:
  %23 = load i32, ptr %20, align 4
  %24 = icmp eq i32 %23, 1
  br i1 %24, label %25, label %42

25:
  %26 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %27 = load i64, ptr %26, align 8
  %28 = getelementptr inbounds nuw i8, ptr %20, i64 32
  %29 = load ptr, ptr %28, align 8
  %30 = icmp slt i64 %27, 1
  br i1 %30, label %41, label %34

31:
  %32 = add nuw nsw i64 %35, 1
  %33 = icmp eq i64 %32, %27
  br i1 %33, label %41, label %34

34:
  %35 = phi i64 [ %32, %31 ], [ 0, %25 ]
  %36 = getelementptr inbounds nuw i64, ptr %29, i64 %35
  %37 = load i64, ptr %36, align 8
  %38 = getelementptr inbounds nuw i64, ptr %2, i64 %35
  %39 = load i64, ptr %38, align 8
  %40 = icmp eq i64 %37, %39
  br i1 %40, label %31, label %42

41:
  store ptr null, ptr %19, align 8
  br label %58

42:
  %43 = getelementptr inbounds nuw i8, ptr %5, i64 96
  %44 = load ptr, ptr %43, align 8
  %45 = load ptr, ptr %18, align 8
  tail call void %44(ptr %45)
  %46 = getelementptr inbounds nuw i8, ptr %5, i64 80
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds nuw i8, ptr %5, i64 72
  %49 = load ptr, ptr %48, align 8
  %50 = load ptr, ptr %18, align 8
  %51 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %52 = load i64, ptr %51, align 8
  %53 = trunc i64 %52 to i32
  %54 = tail call ptr %47(ptr %49, ptr %50, i32 %53, ptr %2, ptr null, ptr null, i32 0, ptr null)
  %55 = icmp eq ptr %54, null
  br i1 %55, label %67, label %56

56:
  %57 = load i64, ptr %15, align 8
  br label %58

58:
  %59 = phi i64 [ %16, %41 ], [ %57, %56 ]
  %60 = phi ptr [ %20, %41 ], [ %54, %56 ]
  %61 = mul i64 %59, 24
  %62 = getelementptr i8, ptr %0, i64 %61
  %63 = getelementptr i8, ptr %62, i64 40
  %64 = getelementptr inbounds ptr, ptr %63, i64 %1
  store ptr %60, ptr %64, align 8
  %65 = getelementptr inbounds nuw i8, ptr %60, i64 16
  %66 = load ptr, ptr %65, align 8
  br label %67

67:
  %68 = phi ptr [ %66, %58 ], [ null, %42 ]
  br i1 %8, label %74, label %69

69:
  %70 = getelementptr inbounds nuw i8, ptr %5, i64 176
  %71 = load ptr, ptr %70, align 8
  %72 = tail call ptr %71()
  %73 = ptrtoint ptr %72 to i64
  store i64 %73, ptr %6, align 8
  br label %74

74:
  ret ptr %68
}

define ptr @take(ptr %0, i64 %1, i64 %2, i64 %3) {
  %5 = load i64, ptr %0, align 8
  %6 = inttoptr i64 %5 to ptr
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %8, 0
  br i1 %9, label %14, label %10

10:
  %11 = getelementptr inbounds nuw i8, ptr %6, i64 184
  %12 = load ptr, ptr %11, align 8
  %13 = inttoptr i64 %8 to ptr
  tail call void %12(ptr %13)
  store i64 0, ptr %7, align 8
  br label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %6, i64 264
  %16 = getelementptr inbounds %struct.input_record, ptr %15, i64 %2
  %17 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, 24
  %20 = getelementptr i8, ptr %0, i64 %19
  %21 = getelementptr i8, ptr %20, i64 40
  %22 = mul i64 %2, 24
  %23 = getelementptr i8, ptr %0, i64 %22
  %24 = getelementptr i8, ptr %23, i64 40
  %25 = load i64, ptr %24, align 8
  %26 = inttoptr i64 %25 to ptr
  %27 = load i64, ptr %16, align 8
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %55, label %29

29:
  %30 = getelementptr inbounds nuw i8, ptr %16, i64 8
  %31 = load i64, ptr %30, align 8
  %32 = inttoptr i64 %31 to ptr
  %33 = getelementptr %struct.input_record, ptr %15, i64 %18
  %34 = getelementptr %struct.input_record, ptr %33, i64 %1
  %35 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %36 = load ptr, ptr %35, align 8
  %37 = icmp eq ptr %36, %32
  br i1 %37, label %38, label %55

38:
  %39 = getelementptr inbounds nuw i8, ptr %6, i64 32
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr ptr, ptr %21, i64 %40
  %42 = getelementptr ptr, ptr %41, i64 %2
  %43 = load ptr, ptr %42, align 8
  %44 = load i32, ptr %43, align 4
  %45 = icmp eq i32 %44, 2
  br i1 %45, label %46, label %55

46:
  %47 = getelementptr inbounds nuw i8, ptr %43, i64 64
  %48 = load i32, ptr %47, align 4
  %49 = and i32 %48, 1285
  %50 = icmp eq i32 %49, 1285
  br i1 %50, label %51, label %55

51:
  %52 = getelementptr inbounds nuw i8, ptr %6, i64 96
  %53 = load ptr, ptr %52, align 8
  tail call void %53(ptr %43)
  %54 = getelementptr inbounds ptr, ptr %21, i64 %1
  store ptr %43, ptr %54, align 8
  br label %86

55:
  %56 = getelementptr i8, ptr %23, i64 48
  %57 = load i64, ptr %56, align 8
  %58 = inttoptr i64 %57 to ptr
  %59 = tail call ptr @alloc_output(ptr %0, i64 %1, ptr %58)
  %60 = icmp eq ptr %59, null
  br i1 %60, label %86, label %61

61:
  %62 = icmp sgt i64 %3, 7
  br i1 %62, label %68, label %63

63:
  %64 = phi i64 [ %3, %61 ], [ %73, %68 ]
  %65 = phi ptr [ %59, %61 ], [ %74, %68 ]
  %66 = phi ptr [ %26, %61 ], [ %75, %68 ]
  %67 = icmp sgt i64 %64, 0
  br i1 %67, label %77, label %86

68:
  %69 = phi ptr [ %75, %68 ], [ %26, %61 ]
  %70 = phi ptr [ %74, %68 ], [ %59, %61 ]
  %71 = phi i64 [ %73, %68 ], [ %3, %61 ]
  %72 = load i64, ptr %69, align 1
  store i64 %72, ptr %70, align 1
  %73 = add nsw i64 %71, -8
  %74 = getelementptr inbounds nuw i8, ptr %70, i64 8
  %75 = getelementptr inbounds nuw i8, ptr %69, i64 8
  %76 = icmp samesign ugt i64 %71, 15
  br i1 %76, label %68, label %63

77:
  %78 = phi ptr [ %81, %77 ], [ %66, %63 ]
  %79 = phi ptr [ %83, %77 ], [ %65, %63 ]
  %80 = phi i64 [ %84, %77 ], [ %64, %63 ]
  %81 = getelementptr inbounds nuw i8, ptr %78, i64 1
  %82 = load i8, ptr %78, align 1
  %83 = getelementptr inbounds nuw i8, ptr %79, i64 1
  store i8 %82, ptr %79, align 1
  %84 = add nsw i64 %80, -1
  %85 = icmp samesign ugt i64 %80, 1
  br i1 %85, label %77, label %86

86:
  %87 = phi ptr [ %26, %51 ], [ null, %55 ], [ %59, %63 ], [ %59, %77 ]
  ret ptr %87
}

define i64 @poll(ptr %0) {
  %2 = load i64, ptr %0, align 8
  %3 = inttoptr i64 %2 to ptr
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %5 = load ptr, ptr %4, align 8
  %6 = tail call i64 %5()
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 240
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %6, %8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  br i1 %12, label %18, label %13

13:
  br i1 %9, label %14, label %30

14:
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 184
  %16 = load ptr, ptr %15, align 8
  %17 = inttoptr i64 %11 to ptr
  tail call void %16(ptr %17)
  store i64 0, ptr %10, align 8
  br label %19

18:
  br i1 %9, label %19, label %24

19:
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 224
  %21 = load ptr, ptr %20, align 8
  %22 = tail call i32 %21()
  %23 = sext i32 %22 to i64
  br label %24

24:
  %25 = phi i64 [ %23, %19 ], [ 0, %18 ]
  %26 = getelementptr inbounds nuw i8, ptr %3, i64 176
  %27 = load ptr, ptr %26, align 8
  %28 = tail call ptr %27()
  %29 = ptrtoint ptr %28 to i64
  store i64 %29, ptr %10, align 8
  br label %30

30:
  %31 = phi i64 [ %25, %24 ], [ 0, %13 ]
  ret i64 %31
}

define ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = alloca i32, align 4
  %6 = alloca [384 x i64], align 16
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = icmp ne i64 %2, %10
  %12 = icmp ne ptr %3, null
  %13 = or i1 %12, %11
  br i1 %13, label %412, label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = shl i64 %16, 2
  %18 = add i64 %17, 5
  %19 = getelementptr inbounds nuw i8, ptr %8, i64 32
  %20 = load i64, ptr %19, align 8
  %21 = add i64 %18, %20
  %22 = icmp sgt i64 %21, 384
  br i1 %22, label %23, label %29

23:
  %24 = getelementptr inbounds nuw i8, ptr %8, i64 120
  %25 = load ptr, ptr %24, align 8
  %26 = shl i64 %21, 3
  %27 = tail call ptr %25(i64 %26)
  %28 = icmp eq ptr %27, null
  br i1 %28, label %412, label %29

29:
  %30 = phi ptr [ %27, %23 ], [ %6, %14 ]
  %31 = ptrtoint ptr %8 to i64
  store i64 %31, ptr %30, align 8
  %32 = load i64, ptr %15, align 8
  %33 = mul i64 %32, 24
  %34 = getelementptr i8, ptr %30, i64 %33
  %35 = getelementptr i8, ptr %34, i64 40
  %36 = load i64, ptr %19, align 8
  %37 = shl nsw i64 %36, 3
  %38 = getelementptr inbounds i8, ptr %35, i64 %37
  %39 = getelementptr inbounds nuw i8, ptr %8, i64 216
  %40 = load i64, ptr %39, align 8
  %41 = icmp slt i64 %40, 1
  br i1 %41, label %71, label %42

42:
  %43 = getelementptr inbounds nuw i8, ptr %8, i64 192
  %44 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %45

45:
  %46 = phi i64 [ 0, %42 ], [ %66, %65 ]
  %47 = load ptr, ptr %43, align 8
  %48 = load ptr, ptr %44, align 8
  %49 = getelementptr inbounds nuw ptr, ptr %48, i64 %46
  %50 = load ptr, ptr %49, align 8
  %51 = tail call i32 %47(ptr %50, i32 0)
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %53, label %65

53:
  %54 = icmp eq i64 %46, 0
  br i1 %54, label %404, label %55

55:
  %56 = getelementptr inbounds nuw i8, ptr %8, i64 200
  br label %57

57:
  %58 = phi i64 [ %46, %55 ], [ %61, %57 ]
  %59 = load ptr, ptr %56, align 8
  %60 = load ptr, ptr %44, align 8
  %61 = add nsw i64 %58, -1
  %62 = getelementptr inbounds nuw ptr, ptr %60, i64 %61
  %63 = load ptr, ptr %62, align 8
  tail call void %59(ptr %63)
  %64 = icmp samesign ugt i64 %58, 1
  br i1 %64, label %57, label %404

65:
  %66 = add nuw nsw i64 %46, 1
  %67 = load i64, ptr %39, align 8
  %68 = icmp slt i64 %66, %67
  br i1 %68, label %45, label %69

69:
  %70 = load i64, ptr %15, align 8
  br label %71

71:
  %72 = phi i64 [ %70, %69 ], [ %32, %29 ]
  %73 = icmp sgt i64 %72, 0
  br i1 %73, label %74, label %247

74:
  %75 = getelementptr inbounds nuw i8, ptr %8, i64 264
  %76 = getelementptr inbounds nuw i8, ptr %30, i64 40
  %77 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %78 = getelementptr inbounds nuw i8, ptr %8, i64 136
  %79 = getelementptr inbounds nuw i8, ptr %8, i64 144
  %80 = getelementptr inbounds nuw i8, ptr %8, i64 152
  %81 = getelementptr inbounds nuw i8, ptr %8, i64 160
  br label %82

82:
  %83 = phi i1 [ false, %74 ], [ %234, %233 ]
  %84 = phi ptr [ %76, %74 ], [ %239, %233 ]
  %85 = phi ptr [ %75, %74 ], [ %238, %233 ]
  %86 = phi i64 [ 0, %74 ], [ %237, %233 ]
  %87 = phi i64 [ 0, %74 ], [ %236, %233 ]
  %88 = load i64, ptr %85, align 8
  %89 = icmp eq i64 %88, 0
  %90 = getelementptr inbounds nuw i8, ptr %85, i64 8
  %91 = load i64, ptr %90, align 8
  br i1 %89, label %96, label %92

92:
  %93 = inttoptr i64 %91 to ptr
  %94 = getelementptr inbounds nuw i8, ptr %93, i64 24
  %95 = load ptr, ptr %94, align 8
  br label %98

96:
  %97 = getelementptr inbounds ptr, ptr %1, i64 %91
  br label %98

98:
  %99 = phi ptr [ %95, %92 ], [ %97, %96 ]
  %100 = load ptr, ptr %99, align 8
  %101 = getelementptr inbounds nuw i8, ptr %100, i64 8
  %102 = load ptr, ptr %101, align 8
  %103 = load ptr, ptr %77, align 8
  %104 = icmp eq ptr %102, %103
  br i1 %104, label %105, label %184

105:
  %106 = getelementptr inbounds nuw i8, ptr %100, i64 24
  %107 = load i32, ptr %106, align 4
  %108 = sext i32 %107 to i64
  %109 = getelementptr inbounds nuw i8, ptr %85, i64 32
  %110 = load i64, ptr %109, align 8
  %111 = icmp eq i64 %110, %108
  br i1 %111, label %112, label %388

112:
  %113 = getelementptr inbounds nuw i8, ptr %100, i64 64
  %114 = load i32, ptr %113, align 4
  %115 = and i32 %114, 257
  switch i32 %115, label %388 [
    i32 257, label %126
    i32 256, label %116
  ]

116:
  %117 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %118 = load i64, ptr %117, align 8
  %119 = and i64 %118, 8
  %120 = icmp eq i64 %119, 0
  br i1 %120, label %388, label %121

121:
  %122 = and i64 %118, 2
  %123 = icmp eq i64 %122, 0
  %124 = select i1 %123, i64 8, i64 4
  %125 = call fastcc zeroext i1 @in_either_order(ptr %100, i64 %124)
  br i1 %125, label %126, label %388

126:
  %127 = getelementptr inbounds nuw i8, ptr %100, i64 56
  %128 = load ptr, ptr %127, align 8
  %129 = getelementptr inbounds nuw i8, ptr %85, i64 56
  %130 = load ptr, ptr %129, align 8
  %131 = icmp eq ptr %128, %130
  br i1 %131, label %146, label %132

132:
  %133 = getelementptr inbounds nuw i8, ptr %128, i64 28
  %134 = load i32, ptr %133, align 4
  %135 = sext i32 %134 to i64
  %136 = getelementptr inbounds nuw i8, ptr %128, i64 26
  %137 = load i8, ptr %136, align 2
  %138 = getelementptr inbounds nuw i8, ptr %85, i64 16
  %139 = load i64, ptr %138, align 8
  %140 = icmp eq i64 %139, %135
  br i1 %140, label %145, label %141

141:
  %142 = getelementptr inbounds nuw i8, ptr %85, i64 24
  %143 = load i64, ptr %142, align 8
  %144 = icmp eq i64 %143, %135
  br i1 %144, label %145, label %388

145:
  switch i8 %137, label %388 [
    i8 124, label %146
    i8 61, label %146
    i8 60, label %146
  ]

146:
  %147 = getelementptr inbounds nuw i8, ptr %100, i64 32
  %148 = load ptr, ptr %147, align 8
  %149 = getelementptr inbounds nuw i8, ptr %85, i64 40
  %150 = load ptr, ptr %149, align 8
  %151 = icmp sgt i32 %107, 0
  br i1 %151, label %152, label %171

152:
  %153 = icmp eq ptr %150, null
  br label %154

154:
  %155 = phi i64 [ 0, %152 ], [ %169, %165 ]
  %156 = phi i64 [ 1, %152 ], [ %168, %165 ]
  br i1 %153, label %165, label %157

157:
  %158 = getelementptr inbounds nuw i64, ptr %150, i64 %155
  %159 = load i64, ptr %158, align 8
  %160 = icmp sgt i64 %159, -1
  br i1 %160, label %161, label %165

161:
  %162 = getelementptr inbounds nuw i64, ptr %148, i64 %155
  %163 = load i64, ptr %162, align 8
  %164 = icmp eq i64 %159, %163
  br i1 %164, label %165, label %388

165:
  %166 = getelementptr inbounds nuw i64, ptr %148, i64 %155
  %167 = load i64, ptr %166, align 8
  %168 = mul i64 %167, %156
  %169 = add nuw nsw i64 %155, 1
  %170 = icmp eq i64 %169, %108
  br i1 %170, label %171, label %154

171:
  %172 = phi i64 [ 1, %146 ], [ %168, %165 ]
  %173 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %174 = load i64, ptr %173, align 8
  store i64 %174, ptr %84, align 8
  %175 = ptrtoint ptr %148 to i64
  %176 = getelementptr inbounds nuw i8, ptr %84, i64 8
  store i64 %175, ptr %176, align 8
  %177 = getelementptr inbounds nuw i8, ptr %100, i64 40
  %178 = load i64, ptr %177, align 8
  %179 = getelementptr inbounds nuw i8, ptr %84, i64 16
  store i64 %178, ptr %179, align 8
  %180 = load i64, ptr %85, align 8
  %181 = icmp eq i64 %180, 0
  br i1 %181, label %233, label %182

182:
  %183 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  store ptr %100, ptr %183, align 8
  br label %233

184:
  %185 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %186 = load i64, ptr %185, align 8
  %187 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  %188 = and i64 %186, 5
  %189 = icmp eq i64 %188, 0
  br i1 %189, label %223, label %190

190:
  %191 = and i64 %186, 2
  %192 = icmp ne i64 %191, 0
  %193 = load ptr, ptr %78, align 8
  %194 = icmp eq ptr %102, %193
  %195 = and i64 %186, 1
  %196 = icmp eq i64 %195, 0
  br i1 %196, label %205, label %197

197:
  br i1 %194, label %202, label %198

198:
  %199 = load ptr, ptr %79, align 8
  %200 = icmp ne ptr %102, %199
  %201 = or i1 %192, %200
  br i1 %201, label %205, label %202

202:
  %203 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %204 = load double, ptr %203, align 8
  br label %221

205:
  %206 = load ptr, ptr %80, align 8
  %207 = icmp eq ptr %102, %206
  br i1 %207, label %208, label %223

208:
  %209 = load ptr, ptr %81, align 8
  %210 = call i64 %209(ptr %100, ptr %5)
  %211 = load i32, ptr %5, align 4
  %212 = icmp eq i32 %211, 0
  br i1 %212, label %213, label %223

213:
  br i1 %196, label %214, label %216

214:
  %215 = bitcast i64 %210 to double
  br label %224

216:
  %217 = add i64 %210, -9007199254740993
  %218 = icmp ult i64 %217, -18014398509481985
  br i1 %218, label %223, label %219

219:
  %220 = sitofp i64 %210 to double
  br label %221

221:
  %222 = phi double [ %204, %202 ], [ %220, %219 ]
  br i1 %192, label %226, label %224

223:
  br label %388

224:
  %225 = phi double [ %215, %214 ], [ %222, %221 ]
  store double %225, ptr %187, align 8
  br label %231

226:
  %227 = fptrunc double %222 to float
  store float %227, ptr %187, align 4
  %228 = fpext float %227 to double
  %229 = fcmp oeq double %222, %228
  %230 = select i1 %194, i1 true, i1 %229
  br i1 %230, label %231, label %388

231:
  %232 = ptrtoint ptr %187 to i64
  store i64 %232, ptr %84, align 8
  br label %233

233:
  %234 = phi i1 [ %83, %171 ], [ true, %182 ], [ %83, %231 ]
  %235 = phi i64 [ %172, %171 ], [ %172, %182 ], [ 1, %231 ]
  %236 = add i64 %235, %87
  %237 = add nuw nsw i64 %86, 1
  %238 = getelementptr inbounds nuw i8, ptr %85, i64 64
  %239 = getelementptr inbounds nuw i8, ptr %84, i64 24
  %240 = icmp eq i64 %237, %72
  br i1 %240, label %241, label %82

241:
  %242 = icmp sgt i64 %236, -1
  br i1 %242, label %243, label %388

243:
  br i1 %234, label %244, label %247

244:
  %245 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %246 = load ptr, ptr %245, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %246)
  br label %247

247:
  %248 = phi i1 [ false, %243 ], [ true, %244 ], [ false, %71 ]
  %249 = phi i64 [ %236, %243 ], [ %236, %244 ], [ 0, %71 ]
  %250 = icmp sgt i64 %36, 0
  br i1 %250, label %251, label %255

251:
  %252 = phi ptr [ %253, %251 ], [ %35, %247 ]
  store ptr null, ptr %252, align 8
  %253 = getelementptr inbounds nuw i8, ptr %252, i64 8
  %254 = icmp ult ptr %253, %38
  br i1 %254, label %251, label %255

255:
  %256 = getelementptr inbounds nuw i8, ptr %30, i64 32
  store i64 0, ptr %256, align 8
  %257 = getelementptr inbounds nuw i8, ptr %30, i64 24
  store i64 0, ptr %257, align 8
  %258 = getelementptr inbounds nuw i8, ptr %30, i64 16
  store i64 0, ptr %258, align 8
  %259 = getelementptr inbounds nuw i8, ptr %30, i64 8
  store i64 0, ptr %259, align 8
  %260 = getelementptr inbounds nuw i8, ptr %8, i64 64
  %261 = load i64, ptr %260, align 8
  %262 = icmp eq i64 %261, 0
  br i1 %262, label %269, label %263

263:
  store i64 0, ptr %260, align 8
  %264 = add i64 %261, 71
  %265 = and i64 %264, -64
  store i64 %265, ptr %259, align 8
  %266 = inttoptr i64 %261 to ptr
  %267 = load i64, ptr %266, align 8
  %268 = add i64 %267, %261
  store i64 %268, ptr %258, align 8
  br label %269

269:
  %270 = icmp samesign ugt i64 %249, 16384
  br i1 %270, label %271, label %276

271:
  %272 = getelementptr inbounds nuw i8, ptr %8, i64 176
  %273 = load ptr, ptr %272, align 8
  %274 = call ptr %273()
  %275 = ptrtoint ptr %274 to i64
  store i64 %275, ptr %256, align 8
  br label %276

276:
  %277 = load ptr, ptr %8, align 8
  %278 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %279 = load ptr, ptr %278, align 8
  %280 = call i64 %277(ptr %30, ptr %279)
  %281 = load i64, ptr %256, align 8
  %282 = icmp eq i64 %281, 0
  br i1 %282, label %287, label %283

283:
  %284 = getelementptr inbounds nuw i8, ptr %8, i64 184
  %285 = load ptr, ptr %284, align 8
  %286 = inttoptr i64 %281 to ptr
  call void %285(ptr %286)
  store i64 0, ptr %256, align 8
  br label %287

287:
  %288 = load i64, ptr %257, align 8
  %289 = icmp eq i64 %288, 0
  br i1 %289, label %292, label %290

290:
  %291 = call fastcc i64 @larger_arena(ptr %8, ptr %30, i64 %261)
  br label %292

292:
  %293 = phi i64 [ %291, %290 ], [ %261, %287 ]
  %294 = icmp eq i64 %293, 0
  br i1 %294, label %302, label %295

295:
  %296 = load i64, ptr %260, align 8
  store i64 %293, ptr %260, align 8
  %297 = icmp eq i64 %296, 0
  br i1 %297, label %302, label %298

298:
  %299 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %300 = load ptr, ptr %299, align 8
  %301 = inttoptr i64 %296 to ptr
  call void %300(ptr %301)
  br label %302

302:
  br i1 %248, label %303, label %306

303:
  %304 = getelementptr inbounds nuw i8, ptr %8, i64 104
  %305 = load ptr, ptr %304, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %305)
  br label %306

306:
  %307 = icmp eq i64 %280, 0
  %308 = icmp eq i64 %280, -2
  %309 = or i1 %307, %308
  br i1 %307, label %310, label %382

310:
  %311 = load ptr, ptr %35, align 8
  %312 = getelementptr inbounds nuw i8, ptr %8, i64 40
  %313 = load i64, ptr %312, align 8
  %314 = load i64, ptr %19, align 8
  %315 = getelementptr inbounds nuw i8, ptr %8, i64 48
  %316 = load i64, ptr %315, align 8
  %317 = icmp eq i64 %316, 1
  br i1 %317, label %335, label %318

318:
  %319 = getelementptr inbounds nuw i8, ptr %8, i64 88
  %320 = load ptr, ptr %319, align 8
  %321 = call ptr %320(i64 %313)
  %322 = icmp eq ptr %321, null
  br i1 %322, label %323, label %324

323:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  br label %388

324:
  %325 = getelementptr inbounds nuw i8, ptr %321, i64 24
  %326 = load ptr, ptr %325, align 8
  %327 = icmp sgt i64 %313, 0
  br i1 %327, label %328, label %335

328:
  %329 = phi i64 [ %333, %328 ], [ 0, %324 ]
  %330 = getelementptr inbounds nuw ptr, ptr %35, i64 %329
  %331 = load ptr, ptr %330, align 8
  %332 = getelementptr inbounds nuw ptr, ptr %326, i64 %329
  store ptr %331, ptr %332, align 8
  %333 = add nuw nsw i64 %329, 1
  %334 = icmp eq i64 %333, %313
  br i1 %334, label %335, label %328

335:
  %336 = phi ptr [ %311, %310 ], [ %321, %324 ], [ %321, %328 ]
  %337 = icmp slt i64 %313, %314
  br i1 %337, label %338, label %388

338:
  %339 = getelementptr inbounds nuw i8, ptr %8, i64 264
  %340 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %341 = getelementptr inbounds nuw i8, ptr %8, i64 104
  br label %342

342:
  %343 = phi i64 [ %313, %338 ], [ %380, %379 ]
  %344 = load i64, ptr %15, align 8
  %345 = getelementptr %struct.input_record, ptr %339, i64 %344
  %346 = getelementptr %struct.input_record, ptr %345, i64 %343
  %347 = getelementptr inbounds ptr, ptr %35, i64 %343
  %348 = load ptr, ptr %347, align 8
  %349 = getelementptr inbounds nuw i8, ptr %346, i64 16
  %350 = load ptr, ptr %349, align 8
  %351 = getelementptr inbounds nuw i8, ptr %350, i64 24
  %352 = load ptr, ptr %351, align 8
  %353 = load ptr, ptr %352, align 8
  store ptr %348, ptr %352, align 8
  %354 = getelementptr inbounds nuw i8, ptr %346, i64 24
  %355 = load ptr, ptr %354, align 8
  %356 = icmp eq ptr %355, null
  br i1 %356, label %357, label %377

357:
  %358 = getelementptr inbounds nuw i8, ptr %353, i64 8
  %359 = load ptr, ptr %358, align 8
  %360 = load ptr, ptr %340, align 8
  %361 = icmp eq ptr %359, %360
  br i1 %361, label %362, label %377

362:
  %363 = load i32, ptr %353, align 4
  %364 = icmp eq i32 %363, 1
  br i1 %364, label %365, label %377

365:
  %366 = getelementptr inbounds nuw i8, ptr %353, i64 64
  %367 = load i32, ptr %366, align 4
  %368 = and i32 %367, 1285
  %369 = icmp eq i32 %368, 1285
  br i1 %369, label %370, label %377

370:
  %371 = getelementptr inbounds nuw i8, ptr %353, i64 56
  %372 = load ptr, ptr %371, align 8
  %373 = getelementptr inbounds nuw i8, ptr %348, i64 56
  %374 = load ptr, ptr %373, align 8
  %375 = icmp eq ptr %372, %374
  br i1 %375, label %376, label %377

376:
  store ptr %353, ptr %354, align 8
  br label %379

377:
  %378 = load ptr, ptr %341, align 8
  call void %378(ptr %353)
  br label %379

379:
  %380 = add i64 %343, 1
  %381 = icmp eq i64 %380, %314
  br i1 %381, label %388, label %342

382:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  %383 = icmp sgt i64 %280, -1
  %384 = or i1 %383, %308
  br i1 %384, label %388, label %385

385:
  %386 = getelementptr inbounds nuw i8, ptr %8, i64 168
  %387 = load ptr, ptr %386, align 8
  call void %387()
  br label %388

388:
  %389 = phi ptr [ null, %382 ], [ null, %385 ], [ %336, %379 ], [ null, %241 ], [ null, %323 ], [ %336, %335 ], [ null, %223 ], [ null, %161 ], [ null, %112 ], [ null, %145 ], [ null, %141 ], [ null, %116 ], [ null, %105 ], [ null, %226 ], [ null, %121 ]
  %390 = phi i1 [ %309, %382 ], [ %309, %385 ], [ %309, %379 ], [ false, %241 ], [ true, %323 ], [ true, %335 ], [ false, %223 ], [ false, %161 ], [ false, %112 ], [ false, %145 ], [ false, %141 ], [ false, %116 ], [ false, %105 ], [ false, %226 ], [ false, %121 ]
  %391 = load i64, ptr %39, align 8
  %392 = icmp sgt i64 %391, 0
  br i1 %392, label %393, label %404

393:
  %394 = getelementptr inbounds nuw i8, ptr %8, i64 200
  %395 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %396

396:
  %397 = phi i64 [ %391, %393 ], [ %400, %396 ]
  %398 = load ptr, ptr %394, align 8
  %399 = load ptr, ptr %395, align 8
  %400 = add nsw i64 %397, -1
  %401 = getelementptr inbounds nuw ptr, ptr %399, i64 %400
  %402 = load ptr, ptr %401, align 8
  call void %398(ptr %402)
  %403 = icmp samesign ugt i64 %397, 1
  br i1 %403, label %396, label %404

404:
  %405 = phi ptr [ %389, %396 ], [ null, %53 ], [ %389, %388 ], [ null, %57 ]
  %406 = phi i1 [ %390, %396 ], [ false, %53 ], [ %390, %388 ], [ false, %57 ]
  %407 = icmp eq ptr %30, %6
  br i1 %407, label %411, label %408

408:
  %409 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %410 = load ptr, ptr %409, align 8
  call void %410(ptr %30)
  br label %411

411:
  br i1 %406, label %418, label %412

412:
  %413 = getelementptr inbounds nuw i8, ptr %8, i64 112
  %414 = load ptr, ptr %413, align 8
  %415 = getelementptr inbounds nuw i8, ptr %8, i64 56
  %416 = load ptr, ptr %415, align 8
  %417 = call ptr %414(ptr %416, ptr %1, i64 %2, ptr %3)
  br label %418

418:
  %419 = phi ptr [ %417, %412 ], [ %405, %411 ]
  ret ptr %419
}

define internal fastcc void @each_held(ptr %0, ptr %1, ptr %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %20

7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 264
  br label %9

9:
  %10 = phi i64 [ 0, %7 ], [ %18, %17 ]
  %11 = getelementptr inbounds nuw %struct.input_record, ptr %8, i64 %10
  %12 = load i64, ptr %11, align 8
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %17, label %14

14:
  %15 = getelementptr inbounds nuw ptr, ptr %1, i64 %10
  %16 = load ptr, ptr %15, align 8
  tail call void %2(ptr %16)
  br label %17

17:
  %18 = add nuw nsw i64 %10, 1
  %19 = icmp eq i64 %18, %5
  br i1 %19, label %20, label %9

20:
  ret void
}

define internal fastcc void @drop_outputs(ptr %0, ptr %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %4 = load i64, ptr %3, align 8
  %5 = icmp sgt i64 %4, 0
  br i1 %5, label %6, label %18

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %16, %15 ]
  %10 = getelementptr inbounds nuw ptr, ptr %1, i64 %9
  %11 = load ptr, ptr %10, align 8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %15, label %13

13:
  %14 = load ptr, ptr %7, align 8
  tail call void %14(ptr %11)
  br label %15

15:
  %16 = add nuw nsw i64 %9, 1
  %17 = icmp eq i64 %16, %4
  br i1 %17, label %18, label %8

18:
  ret void
}

define ptr @calls_left() nounwind {
  ret ptr @calls
}

define ptr @counted_entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8
  %7 = load i64, ptr @calls, align 8
  %8 = add i64 %7, -1
  store i64 %8, ptr @calls, align 8
  %9 = icmp sgt i64 %8, -1
  br i1 %9, label %10, label %17

10:
  %11 = getelementptr inbounds nuw i8, ptr %6, i64 256
  %12 = load i64, ptr %11, align 8
  %13 = add i64 %12, -1
  store i64 %13, ptr %11, align 8
  %14 = icmp sgt i64 %13, -1
  br i1 %14, label %15, label %17

15:
  %16 = tail call ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3)
  br label %23

17:
  %18 = getelementptr inbounds nuw i8, ptr %6, i64 112
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds nuw i8, ptr %6, i64 56
  %21 = load ptr, ptr %20, align 8
  %22 = tail call ptr %19(ptr %21, ptr %1, i64 %2, ptr %3)
  br label %23

23:
  %24 = phi ptr [ %16, %15 ], [ %22, %17 ]
  ret ptr %24
}

define internal fastcc zeroext i1 @in_either_order(ptr %0, i64 %1) nounwind {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %6 = load ptr, ptr %5, align 8
  br label %7

7:
  %8 = phi i1 [ true, %2 ], [ false, %30 ]
  %9 = phi i64 [ 0, %2 ], [ 1, %30 ]
  %10 = xor i64 %9, 1
  %11 = getelementptr inbounds nuw i64, ptr %4, i64 %9
  %12 = load i64, ptr %11, align 8
  %13 = icmp slt i64 %12, 2
  br i1 %13, label %18, label %14

14:
  %15 = getelementptr inbounds nuw i64, ptr %6, i64 %9
  %16 = load i64, ptr %15, align 8
  %17 = icmp eq i64 %16, %1
  br i1 %17, label %18, label %29

18:
  %19 = getelementptr inbounds nuw i64, ptr %4, i64 %10
  %20 = load i64, ptr %19, align 8
  %21 = icmp slt i64 %20, 2
  br i1 %21, label %31, label %22

22:
  %23 = getelementptr inbounds nuw i64, ptr %6, i64 %10
  %24 = load i64, ptr %23, align 8
  %25 = mul i64 %12, %1
  %26 = icmp sge i64 %24, %25
  %27 = xor i1 %8, true
  %28 = or i1 %26, %27
  br i1 %28, label %31, label %30

29:
  br i1 %8, label %30, label %31

30:
  br label %7

31:
  %32 = phi i1 [ false, %29 ], [ true, %18 ], [ %26, %22 ]
  ret i1 %32
}

define internal fastcc i64 @larger_arena(ptr %0, ptr %1, i64 %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %21, label %9

9:
  %10 = inttoptr i64 %7 to ptr
  br label %11

11:
  %12 = phi i64 [ %17, %11 ], [ 0, %9 ]
  %13 = phi ptr [ %14, %11 ], [ %10, %9 ]
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = add i64 %16, %12
  tail call void %5(ptr %13)
  %18 = icmp eq ptr %14, null
  br i1 %18, label %19, label %11

19:
  %20 = add i64 %17, 128
  br label %21

21:
  %22 = phi i64 [ 128, %3 ], [ %20, %19 ]
  %23 = icmp eq i64 %2, 0
  br i1 %23, label %27, label %24

24:
  %25 = inttoptr i64 %2 to ptr
  %26 = load i64, ptr %25, align 8
  br label %27

27:
  %28 = phi i64 [ %26, %24 ], [ 0, %21 ]
  %29 = add i64 %22, %28
  %30 = icmp sgt i64 %29, 67108864
  br i1 %30, label %53, label %31

31:
  %32 = load ptr, ptr %4, align 8
  %33 = inttoptr i64 %2 to ptr
  tail call void %32(ptr %33)
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %35 = load ptr, ptr %34, align 8
  %36 = tail call ptr %35(i64 %29)
  %37 = icmp eq ptr %36, null
  br i1 %37, label %53, label %38

38:
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  %42 = icmp slt i64 %29, 4194304
  %43 = or i1 %42, %41
  %44 = ptrtoint ptr %36 to i64
  br i1 %43, label %52, label %45

45:
  %46 = add i64 %44, 4095
  %47 = and i64 %46, -4096
  %48 = inttoptr i64 %47 to ptr
  %49 = add i64 %29, %44
  %50 = sub i64 %49, %47
  %51 = tail call i32 %40(ptr %48, i64 %50, i32 14)
  br label %52

52:
  store i64 %29, ptr %36, align 8
  br label %53

53:
  %54 = phi i64 [ %2, %27 ], [ %44, %52 ], [ 0, %31 ]
  ret i64 %54
}

