; Made by llvm_from_c.py from sources with the digest 108c9de91fa8df7743a0883f6ca2ea69
; with ziglang 0.17.1

%struct.anon = type { [2 x ptr], [2 x ptr], ptr, ptr, ptr, ptr }
%struct.product = type { i64, i64, i64, i8, i8, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr, ptr }

@library = internal global %struct.anon zeroinitializer, align 8
@one64 = internal constant double 1.000000e+00, align 8
@one32 = internal constant float 1.000000e+00, align 4
@.str = private constant [2 x i8] c"C\00", align 1
@.str.1 = private constant [2 x i8] c"T\00", align 1
@__const.run.own = private constant [2 x i64] [i64 176, i64 0], align 16
@.str.2 = private constant [2 x i8] c"N\00", align 1

define ptr @libraries() nounwind {
  ret ptr @library
}

define void @sgemm(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) nounwind {
  %14 = load ptr, ptr @library, align 8
  %15 = load i64, ptr %2, align 8
  %16 = load i64, ptr %3, align 8
  %17 = mul i64 %16, %15
  %18 = load i64, ptr %4, align 8
  %19 = mul i64 %17, %18
  %20 = icmp slt i64 %19, 100001
  %21 = select i1 %20, ptr %14, ptr @large_sgemm
  musttail call void %21(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void
}

define internal void @large_sgemm(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) nounwind {
  tail call fastcc void @gemm(i64 0, ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void
}

define void @dgemm(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) nounwind {
  %14 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 8), align 8
  %15 = load i64, ptr %2, align 8
  %16 = load i64, ptr %3, align 8
  %17 = mul i64 %16, %15
  %18 = load i64, ptr %4, align 8
  %19 = mul i64 %17, %18
  %20 = icmp slt i64 %19, 100001
  %21 = select i1 %20, ptr %14, ptr @large_dgemm
  musttail call void %21(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void
}

define internal void @large_dgemm(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) nounwind {
  tail call fastcc void @gemm(i64 1, ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12)
  ret void
}

define internal fastcc void @gemm(i64 %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12, ptr %13) nounwind {
  %15 = alloca %struct.product, align 8
  %16 = icmp eq i64 %0, 0
  br i1 %16, label %20, label %17

17:
  %18 = load double, ptr %11, align 8
  %19 = fcmp oeq double %18, 0.000000e+00
  br label %23

20:
  %21 = load float, ptr %11, align 4
  %22 = fcmp oeq float %21, 0.000000e+00
  br label %23

23:
  %24 = phi i1 [ %19, %17 ], [ %22, %20 ]
  %25 = icmp eq ptr %7, %9
  %26 = and i1 %25, %24
  br i1 %26, label %32, label %27

27:
  %28 = load i64, ptr %3, align 8
  %29 = load i64, ptr %4, align 8
  %30 = load i64, ptr %8, align 8
  %31 = load i64, ptr %10, align 8
  br label %46

32:
  %33 = load i64, ptr %8, align 8
  %34 = load i64, ptr %10, align 8
  %35 = icmp eq i64 %33, %34
  %36 = load i64, ptr %3, align 8
  %37 = load i64, ptr %4, align 8
  br i1 %35, label %38, label %46

38:
  %39 = icmp eq i64 %36, %37
  br i1 %39, label %40, label %46

40:
  %41 = load i8, ptr %1, align 1
  %42 = load i8, ptr %2, align 1
  %43 = icmp ne i8 %41, %42
  %44 = icmp sgt i64 %36, 32
  %45 = and i1 %44, %43
  br label %46

46:
  %47 = phi i64 [ %33, %40 ], [ %33, %38 ], [ %34, %32 ], [ %31, %27 ]
  %48 = phi i64 [ %33, %40 ], [ %33, %38 ], [ %33, %32 ], [ %30, %27 ]
  %49 = phi i64 [ %36, %40 ], [ %37, %38 ], [ %37, %32 ], [ %29, %27 ]
  %50 = phi i64 [ %36, %40 ], [ %36, %38 ], [ %36, %32 ], [ %28, %27 ]
  %51 = phi i1 [ %45, %40 ], [ false, %38 ], [ false, %32 ], [ false, %27 ]
  %52 = select i1 %16, ptr @one32, ptr @one64
  store i64 %0, ptr %15, align 8
  %53 = select i1 %16, i64 4, i64 8
  %54 = getelementptr inbounds nuw i8, ptr %15, i64 8
  store i64 %53, ptr %54, align 8
  %55 = zext i1 %51 to i64
  %56 = getelementptr inbounds nuw i8, ptr %15, i64 16
  store i64 %55, ptr %56, align 8
  %57 = load i8, ptr %1, align 1
  %58 = getelementptr inbounds nuw i8, ptr %15, i64 24
  store i8 %57, ptr %58, align 8
  %59 = load i8, ptr %2, align 1
  %60 = getelementptr inbounds nuw i8, ptr %15, i64 25
  store i8 %59, ptr %60, align 1
  %61 = getelementptr inbounds nuw i8, ptr %15, i64 32
  store i64 %50, ptr %61, align 8
  %62 = getelementptr inbounds nuw i8, ptr %15, i64 40
  store i64 %49, ptr %62, align 8
  %63 = load i64, ptr %5, align 8
  %64 = getelementptr inbounds nuw i8, ptr %15, i64 48
  store i64 %63, ptr %64, align 8
  %65 = getelementptr inbounds nuw i8, ptr %15, i64 56
  store i64 %48, ptr %65, align 8
  %66 = getelementptr inbounds nuw i8, ptr %15, i64 64
  store i64 %47, ptr %66, align 8
  %67 = load i64, ptr %13, align 8
  %68 = getelementptr inbounds nuw i8, ptr %15, i64 72
  store i64 %67, ptr %68, align 8
  %69 = getelementptr inbounds nuw i8, ptr %15, i64 128
  store ptr %7, ptr %69, align 8
  %70 = getelementptr inbounds nuw i8, ptr %15, i64 136
  store ptr %9, ptr %70, align 8
  %71 = getelementptr inbounds nuw i8, ptr %15, i64 144
  store ptr %12, ptr %71, align 8
  %72 = getelementptr inbounds nuw i8, ptr %15, i64 152
  store ptr %6, ptr %72, align 8
  %73 = getelementptr inbounds nuw i8, ptr %15, i64 160
  store ptr %11, ptr %73, align 8
  %74 = getelementptr inbounds nuw i8, ptr %15, i64 168
  store ptr %52, ptr %74, align 8
  br i1 %51, label %75, label %76

75:
  call fastcc void @multiply_twins(ptr %15)
  br label %118

76:
  %77 = tail call i64 @llvm.smin.i64(i64 %50, i64 %49)
  %78 = icmp slt i64 %49, 96
  %79 = icmp slt i64 %63, 48
  %80 = select i1 %78, i1 true, i1 %79
  br i1 %80, label %99, label %81

81:
  %82 = icmp eq i8 %59, 78
  %83 = select i1 %82, i64 768, i64 512
  %84 = icmp sgt i64 %77, %83
  br i1 %84, label %99, label %85

85:
  %86 = icmp eq i8 %57, 84
  %87 = and i1 %86, %82
  %88 = icmp samesign ugt i64 %63, 2048
  %89 = select i1 %87, i1 true, i1 %88
  br i1 %89, label %98, label %90

90:
  %91 = icmp samesign ugt i64 %49, 255
  br i1 %91, label %92, label %99

92:
  %93 = icmp sgt i64 %77, 512
  br i1 %93, label %98, label %94

94:
  %95 = select i1 %16, i64 511, i64 255
  %96 = and i64 %48, %95
  %97 = icmp eq i64 %96, 0
  br i1 %97, label %98, label %99

98:
  call fastcc void @in_copied_parts(ptr %15)
  br label %118

99:
  %100 = icmp eq i8 %57, 84
  %101 = icmp eq i8 %59, 78
  %102 = select i1 %100, i1 %101, i1 false
  %103 = icmp sgt i64 %63, 2048
  %104 = select i1 %102, i1 true, i1 %103
  br i1 %104, label %105, label %108

105:
  %106 = icmp sgt i64 %63, 47
  %107 = select i1 %78, i1 %106, i1 false
  br i1 %107, label %116, label %117

108:
  %109 = mul i64 %49, %50
  %110 = mul i64 %109, %63
  %111 = icmp sgt i64 %110, 1000000
  br i1 %111, label %112, label %117

112:
  %113 = icmp slt i64 %77, 513
  %114 = icmp slt i64 %63, 65
  %115 = or i1 %113, %114
  br i1 %115, label %116, label %117

116:
  call fastcc void @in_parts(ptr %15)
  br label %118

117:
  call fastcc void @multiply_block(ptr %15, i64 0, i64 0, i64 %50, i64 %49, i64 0, i64 %63)
  br label %118

118:
  ret void
}

define internal fastcc void @multiply_twins(ptr %0) nounwind {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 25
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %13 = load i64, ptr %2, align 8
  %14 = load i64, ptr %3, align 8
  br label %15

15:
  %16 = phi i64 [ %72, %79 ], [ %14, %1 ]
  %17 = phi i64 [ %72, %79 ], [ %13, %1 ]
  %18 = tail call i64 @llvm.smin.i64(i64 %17, i64 %16)
  %19 = icmp slt i64 %16, 96
  br i1 %19, label %45, label %20

20:
  %21 = load i64, ptr %4, align 8
  %22 = icmp slt i64 %21, 48
  br i1 %22, label %45, label %23

23:
  %24 = load i8, ptr %5, align 1
  %25 = icmp eq i8 %24, 78
  %26 = select i1 %25, i64 768, i64 512
  %27 = icmp sgt i64 %18, %26
  br i1 %27, label %45, label %28

28:
  %29 = load i8, ptr %6, align 8
  %30 = icmp eq i8 %29, 84
  %31 = and i1 %25, %30
  %32 = icmp samesign ugt i64 %21, 2048
  %33 = select i1 %31, i1 true, i1 %32
  br i1 %33, label %44, label %34

34:
  %35 = icmp samesign ugt i64 %16, 255
  br i1 %35, label %36, label %45

36:
  %37 = icmp sgt i64 %18, 512
  br i1 %37, label %44, label %38

38:
  %39 = load i64, ptr %7, align 8
  %40 = load i64, ptr %8, align 8
  %41 = mul i64 %40, %39
  %42 = and i64 %41, 2047
  %43 = icmp eq i64 %42, 0
  br i1 %43, label %44, label %45

44:
  tail call fastcc void @in_copied_parts(ptr %0)
  br label %88

45:
  %46 = icmp slt i64 %17, 513
  br i1 %46, label %47, label %48

47:
  tail call fastcc void @in_parts(ptr %0)
  br label %88

48:
  %49 = lshr i64 %17, 1
  %50 = and i64 %49, 4611686018427387840
  %51 = sub nsw i64 %17, %50
  %52 = load i64, ptr %4, align 8
  tail call fastcc void @multiply_block(ptr %0, i64 %50, i64 0, i64 %51, i64 %50, i64 0, i64 %52)
  %53 = load i64, ptr %2, align 8
  %54 = icmp slt i64 %50, %53
  br i1 %54, label %55, label %68

55:
  %56 = phi i64 [ %66, %64 ], [ %50, %48 ]
  br label %57

57:
  %58 = phi i64 [ %62, %57 ], [ 0, %55 ]
  %59 = load i64, ptr %2, align 8
  %60 = sub i64 %59, %56
  %61 = tail call i64 @llvm.smin.i64(i64 %60, i64 64)
  tail call fastcc void @mirror(ptr %0, i64 %56, i64 %58, i64 %61, i64 64)
  %62 = add nuw nsw i64 %58, 64
  %63 = icmp samesign ult i64 %62, %50
  br i1 %63, label %57, label %64

64:
  %65 = load i64, ptr %2, align 8
  %66 = add i64 %56, 64
  %67 = icmp slt i64 %66, %65
  br i1 %67, label %55, label %68

68:
  %69 = phi i64 [ %53, %48 ], [ %65, %64 ]
  %70 = load ptr, ptr %9, align 8
  %71 = load ptr, ptr %10, align 8
  store i64 %50, ptr %3, align 8
  store i64 %50, ptr %2, align 8
  tail call fastcc void @multiply_twins(ptr %0)
  %72 = sub i64 %69, %50
  store i64 %72, ptr %3, align 8
  store i64 %72, ptr %2, align 8
  %73 = load i64, ptr %8, align 8
  %74 = load i8, ptr %6, align 8
  %75 = icmp eq i8 %74, 78
  br i1 %75, label %79, label %76

76:
  %77 = load i64, ptr %7, align 8
  %78 = mul i64 %77, %50
  br label %79

79:
  %80 = phi i64 [ %78, %76 ], [ %50, %68 ]
  %81 = mul i64 %80, %73
  %82 = getelementptr inbounds i8, ptr %70, i64 %81
  store ptr %82, ptr %11, align 8
  store ptr %82, ptr %9, align 8
  %83 = load i64, ptr %12, align 8
  %84 = add i64 %83, 1
  %85 = mul i64 %73, %50
  %86 = mul i64 %85, %84
  %87 = getelementptr inbounds i8, ptr %71, i64 %86
  store ptr %87, ptr %10, align 8
  br label %15

88:
  ret void
}

define internal fastcc void @in_copied_parts(ptr initializes((96, 104), (120, 128)) %0) nounwind {
  %2 = alloca [2 x i64], align 16
  %3 = alloca [3 x ptr], align 16
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %5 = load i64, ptr %4, align 8
  %6 = add i64 %5, -1
  %7 = add i64 %5, 511
  %8 = sdiv i64 %7, 512
  %9 = add i64 %6, %8
  %10 = sdiv i64 %9, %8
  %11 = add i64 %10, 7
  %12 = and i64 %11, -8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 120
  store i64 %12, ptr %13, align 8
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %15 = load i64, ptr %14, align 8
  %16 = add i64 %15, 23
  %17 = sdiv i64 %16, 24
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 %17, ptr %18, align 8
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %20 = load i64, ptr %19, align 8
  %21 = add i64 %20, 47
  %22 = sdiv i64 %21, 48
  %23 = mul i64 %22, %17
  %24 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 56), align 8
  %25 = icmp eq ptr %24, null
  br i1 %25, label %36, label %26

26:
  %27 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 32), align 8
  %28 = tail call i32 %27()
  %29 = load i64, ptr %19, align 8
  %30 = load i64, ptr %14, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %2, ptr align 16 @__const.run.own, i64 16, i1 false)
  %31 = load i64, ptr %0, align 8
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %33 = load i64, ptr %32, align 8
  %34 = getelementptr inbounds nuw i8, ptr %3, i64 16
  store ptr @never, ptr %34, align 16
  %35 = icmp slt i32 %28, 2
  br i1 %35, label %36, label %38

36:
  %37 = tail call i64 @run_copied_parts(ptr %0, i64 0, i64 %23, ptr poison)
  br label %48

38:
  %39 = zext nneg i32 %28 to i64
  %40 = mul i64 %29, %5
  %41 = mul i64 %40, %30
  %42 = icmp eq i64 %31, 0
  %43 = zext i1 %42 to i64
  %44 = ashr i64 %41, %43
  %45 = ashr i64 %44, %33
  %46 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 56), align 8
  %47 = call i64 %46(ptr @run_copied_parts, ptr %0, i64 0, i64 %23, ptr %3, ptr null, i64 %45, i64 %23, i64 %39, ptr %2)
  br label %48

48:
  ret void
}

define internal fastcc void @in_parts(ptr %0) nounwind {
  %2 = alloca [2 x i64], align 16
  %3 = alloca [3 x ptr], align 16
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i8, ptr %4, align 8
  %6 = icmp eq i8 %5, 78
  br i1 %6, label %11, label %7

7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = load i64, ptr %8, align 8
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %18, label %31

11:
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 25
  %13 = load i8, ptr %12, align 1
  %14 = icmp eq i8 %13, 84
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %16 = load i64, ptr %15, align 8
  %17 = icmp eq i64 %16, 0
  br i1 %17, label %22, label %34

18:
  %19 = icmp eq i8 %5, 84
  br i1 %19, label %25, label %20

20:
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 64, ptr %21, align 8
  br label %39

22:
  %23 = select i1 %14, i64 48, i64 64
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %23, ptr %24, align 8
  br i1 %14, label %36, label %39

25:
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 25
  %27 = load i8, ptr %26, align 1
  %28 = freeze i8 %27
  %29 = icmp eq i8 %28, 78
  %30 = select i1 %29, i64 32, i64 64
  br label %31

31:
  %32 = phi i64 [ %30, %25 ], [ 32, %7 ]
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %32, ptr %33, align 8
  br label %39

34:
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 32, ptr %35, align 8
  br i1 %14, label %36, label %39

36:
  %37 = phi i64 [ 24, %22 ], [ 32, %34 ]
  %38 = phi i64 [ 48, %22 ], [ 32, %34 ]
  br label %39

39:
  %40 = phi i64 [ 32, %34 ], [ %38, %36 ], [ %32, %31 ], [ 64, %22 ], [ 64, %20 ]
  %41 = phi ptr [ %15, %34 ], [ %15, %36 ], [ %8, %31 ], [ %15, %22 ], [ %8, %20 ]
  %42 = phi i64 [ 32, %34 ], [ %37, %36 ], [ 32, %31 ], [ 32, %22 ], [ 32, %20 ]
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %42, ptr %43, align 8
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %45 = load i64, ptr %44, align 8
  %46 = add nsw i64 %40, -1
  %47 = add i64 %46, %45
  %48 = sdiv i64 %47, %40
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %50 = load i64, ptr %49, align 8
  %51 = add nsw i64 %42, -1
  %52 = add i64 %51, %50
  %53 = sdiv i64 %52, %42
  %54 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %55 = load i64, ptr %54, align 8
  %56 = icmp sgt i64 %55, 2048
  %57 = select i1 %56, i64 480, i64 %55
  %58 = icmp sgt i64 %50, %45
  %59 = select i1 %58, i64 %48, i64 %53
  %60 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 %59, ptr %60, align 8
  %61 = getelementptr inbounds nuw i8, ptr %0, i64 104
  store i64 0, ptr %61, align 8
  %62 = icmp sgt i64 %55, 0
  br i1 %62, label %63, label %101

63:
  %64 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %65 = mul i64 %53, %48
  %66 = getelementptr inbounds nuw i8, ptr %3, i64 16
  br label %67

67:
  %68 = phi i64 [ %55, %63 ], [ %99, %96 ]
  %69 = phi i64 [ 0, %63 ], [ %98, %96 ]
  %70 = add i64 %69, %57
  %71 = call i64 @llvm.smin.i64(i64 %70, i64 %68)
  store i64 %71, ptr %64, align 8
  %72 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 56), align 8
  %73 = icmp eq ptr %72, null
  br i1 %73, label %78, label %74

74:
  %75 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 32), align 8
  %76 = call i32 %75()
  %77 = sext i32 %76 to i64
  br label %78

78:
  %79 = phi i64 [ %77, %74 ], [ 1, %67 ]
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %2, ptr align 16 @__const.run.own, i64 16, i1 false)
  %80 = load i64, ptr %44, align 8
  %81 = load i64, ptr %49, align 8
  %82 = load i64, ptr %0, align 8
  %83 = load i64, ptr %41, align 8
  store ptr @never, ptr %66, align 16
  %84 = icmp slt i64 %79, 2
  br i1 %84, label %85, label %87

85:
  %86 = call i64 @run_parts(ptr %0, i64 0, i64 %65, ptr poison)
  br label %96

87:
  %88 = mul i64 %80, %57
  %89 = mul i64 %88, %81
  %90 = icmp eq i64 %82, 0
  %91 = zext i1 %90 to i64
  %92 = ashr i64 %89, %91
  %93 = ashr i64 %92, %83
  %94 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 56), align 8
  %95 = call i64 %94(ptr @run_parts, ptr %0, i64 0, i64 %65, ptr %3, ptr null, i64 %93, i64 %65, i64 %79, ptr %2)
  br label %96

96:
  %97 = load i64, ptr %61, align 8
  %98 = add i64 %97, %57
  store i64 %98, ptr %61, align 8
  %99 = load i64, ptr %54, align 8
  %100 = icmp slt i64 %98, %99
  br i1 %100, label %67, label %101

101:
  ret void
}

define internal fastcc void @multiply_block(ptr %0, i64 %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6) nounwind {
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  store i64 %3, ptr %8, align 8
  store i64 %4, ptr %9, align 8
  store i64 %6, ptr %10, align 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %14 = load i64, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %16 = load i8, ptr %15, align 8
  %17 = icmp eq i8 %16, 78
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %19 = load i64, ptr %18, align 8
  %20 = select i1 %17, i64 %5, i64 %1
  %21 = select i1 %17, i64 %1, i64 %5
  %22 = mul i64 %19, %20
  %23 = add i64 %22, %21
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %25 = load ptr, ptr %24, align 8
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 25
  %27 = load i8, ptr %26, align 1
  %28 = icmp eq i8 %27, 78
  %29 = select i1 %28, i64 %2, i64 %5
  %30 = select i1 %28, i64 %5, i64 %2
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %32 = load i64, ptr %31, align 8
  %33 = mul i64 %32, %29
  %34 = add i64 %33, %30
  %35 = load i64, ptr %0, align 8
  %36 = getelementptr inbounds ptr, ptr @library, i64 %35
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %39 = load ptr, ptr %38, align 8
  %40 = icmp eq i64 %5, 0
  %41 = select i1 %40, i64 160, i64 168
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 %41
  %43 = load ptr, ptr %42, align 8
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %46 = mul i64 %34, %14
  %47 = getelementptr inbounds i8, ptr %25, i64 %46
  %48 = mul i64 %23, %14
  %49 = getelementptr inbounds i8, ptr %12, i64 %48
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %51 = load ptr, ptr %50, align 8
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %53 = load i64, ptr %52, align 8
  %54 = mul i64 %53, %2
  %55 = add i64 %54, %1
  %56 = mul i64 %55, %14
  %57 = getelementptr inbounds i8, ptr %51, i64 %56
  call void %37(ptr %15, ptr %26, ptr %8, ptr %9, ptr %10, ptr %39, ptr %49, ptr %45, ptr %47, ptr %44, ptr %43, ptr %57, ptr %52)
  ret void
}

define internal fastcc void @mirror(ptr %0, i64 %1, i64 %2, i64 %3, i64 %4) nounwind {
  %6 = alloca i64, align 8
  %7 = alloca i64, align 8
  store i64 %3, ptr %6, align 8
  store i64 %4, ptr %7, align 8
  %8 = load i64, ptr %0, align 8
  %9 = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 16), i64 %8
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, %2
  %20 = add i64 %19, %1
  %21 = mul i64 %20, %16
  %22 = getelementptr inbounds i8, ptr %14, i64 %21
  %23 = mul i64 %18, %1
  %24 = add i64 %23, %2
  %25 = mul i64 %24, %16
  %26 = getelementptr inbounds i8, ptr %14, i64 %25
  call void %10(ptr @.str, ptr @.str.1, ptr %6, ptr %7, ptr %12, ptr %22, ptr %17, ptr %26, ptr %17)
  ret void
}

define internal i64 @run_copied_parts(ptr %0, i64 %1, i64 %2, ptr %3) nounwind {
  %5 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 40), align 8
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %7 = load i64, ptr %6, align 8
  %8 = mul i64 %7, 24576
  %9 = or disjoint i64 %8, 64
  %10 = tail call ptr %5(i64 %9)
  %11 = icmp eq ptr %10, null
  %12 = ptrtoint ptr %10 to i64
  %13 = add i64 %12, 63
  %14 = and i64 %13, -64
  %15 = inttoptr i64 %14 to ptr
  %16 = select i1 %11, ptr null, ptr %15
  %17 = icmp slt i64 %1, %2
  br i1 %17, label %18, label %43

18:
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 16
  br label %21

21:
  %22 = phi i64 [ %1, %18 ], [ %41, %39 ]
  %23 = load i64, ptr %19, align 8
  %24 = sdiv i64 %22, %23
  %25 = mul i64 %24, %23
  %26 = srem i64 %22, %23
  %27 = sub i64 %2, %22
  %28 = sub i64 %23, %26
  %29 = tail call i64 @llvm.smin.i64(i64 %27, i64 %28)
  %30 = tail call i64 @llvm.smin.i64(i64 %29, i64 40)
  %31 = add i64 %30, %26
  %32 = mul i64 %24, 48
  %33 = load i64, ptr %20, align 8
  %34 = icmp eq i64 %33, 0
  br i1 %34, label %39, label %35

35:
  %36 = shl i64 %24, 1
  %37 = add i64 %36, 2
  %38 = tail call i64 @llvm.smin.i64(i64 %31, i64 %37)
  br label %39

39:
  %40 = phi i64 [ %38, %35 ], [ %31, %21 ]
  tail call fastcc void @run_copied(ptr %0, ptr %16, i64 %32, i64 %26, i64 %40)
  %41 = add i64 %30, %22
  %42 = icmp slt i64 %41, %2
  br i1 %42, label %21, label %43

43:
  %44 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 48), align 8
  tail call void %44(ptr %10)
  ret i64 0
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)

define internal i64 @never(ptr %0) nounwind {
  ret i64 0
}

define internal fastcc void @run_copied(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4) nounwind {
  %6 = alloca %struct.product, align 8
  %7 = alloca i64, align 8
  %8 = alloca i64, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %6, ptr align 8 %0, i64 176, i1 false)
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %10 = load i64, ptr %9, align 8
  %11 = sub i64 %10, %2
  %12 = tail call i64 @llvm.smin.i64(i64 %11, i64 48)
  store i64 %12, ptr %7, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %14 = load i64, ptr %13, align 8
  %15 = icmp sgt i64 %14, 0
  br i1 %15, label %16, label %77

16:
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %22 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %23 = getelementptr inbounds nuw i8, ptr %6, i64 56
  %24 = getelementptr inbounds nuw i8, ptr %6, i64 128
  %25 = icmp eq ptr %1, null
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %27 = mul i64 %3, 24
  %28 = mul i64 %4, 24
  %29 = icmp slt i64 %27, %28
  %30 = select i1 %25, ptr %0, ptr %6
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %32 = load i64, ptr %17, align 8
  br label %33

33:
  %34 = phi i64 [ %32, %16 ], [ %73, %72 ]
  %35 = phi i64 [ %14, %16 ], [ %75, %72 ]
  %36 = phi i64 [ 0, %16 ], [ %74, %72 ]
  %37 = sub i64 %35, %36
  %38 = call i64 @llvm.smin.i64(i64 %34, i64 %37)
  store i64 %38, ptr %8, align 8
  %39 = load i8, ptr %18, align 8
  %40 = load ptr, ptr %19, align 8
  %41 = load i64, ptr %20, align 8
  %42 = load i64, ptr %21, align 8
  store i8 78, ptr %22, align 8
  store i64 48, ptr %23, align 8
  %43 = mul i64 %36, -48
  %44 = sub i64 %43, %2
  %45 = mul i64 %41, %44
  %46 = getelementptr inbounds i8, ptr %1, i64 %45
  store ptr %46, ptr %24, align 8
  br i1 %25, label %62, label %47

47:
  %48 = icmp eq i8 %39, 78
  %49 = select i1 %48, i64 %36, i64 %2
  %50 = mul i64 %42, %49
  %51 = select i1 %48, i64 %2, i64 %36
  %52 = add i64 %50, %51
  %53 = mul i64 %52, %41
  %54 = getelementptr inbounds i8, ptr %40, i64 %53
  %55 = load i64, ptr %0, align 8
  %56 = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @library, i64 16), i64 %55
  %57 = load ptr, ptr %56, align 8
  %58 = select i1 %48, ptr @.str.2, ptr @.str.1
  %59 = select i1 %48, ptr %7, ptr %8
  %60 = select i1 %48, ptr %8, ptr %7
  %61 = load ptr, ptr %26, align 8
  call void %57(ptr @.str, ptr %58, ptr %59, ptr %60, ptr %61, ptr %54, ptr %21, ptr %1, ptr %23)
  br label %62

62:
  br i1 %29, label %63, label %72

63:
  %64 = phi i64 [ %70, %63 ], [ %27, %62 ]
  %65 = load i64, ptr %7, align 8
  %66 = load i64, ptr %31, align 8
  %67 = sub i64 %66, %64
  %68 = call i64 @llvm.smin.i64(i64 %67, i64 24)
  %69 = load i64, ptr %8, align 8
  call fastcc void @multiply_block(ptr %30, i64 %2, i64 %64, i64 %65, i64 %68, i64 %36, i64 %69)
  %70 = add i64 %64, 24
  %71 = icmp slt i64 %70, %28
  br i1 %71, label %63, label %72

72:
  %73 = load i64, ptr %17, align 8
  %74 = add i64 %73, %36
  %75 = load i64, ptr %13, align 8
  %76 = icmp slt i64 %74, %75
  br i1 %76, label %33, label %77

77:
  %78 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %79 = load i64, ptr %78, align 8
  %80 = icmp eq i64 %79, 0
  br i1 %80, label %110, label %81

81:
  %82 = mul i64 %3, 24
  %83 = mul i64 %4, 24
  %84 = call i64 @llvm.smin.i64(i64 %2, i64 %83)
  %85 = icmp slt i64 %82, %84
  br i1 %85, label %86, label %91

86:
  %87 = phi i64 [ %89, %86 ], [ %82, %81 ]
  %88 = load i64, ptr %7, align 8
  call fastcc void @mirror(ptr %0, i64 %2, i64 %87, i64 %88, i64 24)
  %89 = add i64 %87, 24
  %90 = icmp slt i64 %89, %84
  br i1 %90, label %86, label %91

91:
  %92 = load i64, ptr %7, align 8
  %93 = icmp slt i64 %92, 48
  %94 = icmp sgt i64 %83, %2
  %95 = and i1 %94, %93
  br i1 %95, label %96, label %110

96:
  %97 = add i64 %92, %2
  %98 = add i64 %97, -1
  %99 = icmp slt i64 %2, %98
  br i1 %99, label %100, label %110

100:
  %101 = phi i64 [ %107, %100 ], [ %97, %96 ]
  %102 = phi i64 [ %103, %100 ], [ %2, %96 ]
  %103 = add nsw i64 %102, 1
  %104 = xor i64 %102, -1
  %105 = add i64 %101, %104
  call fastcc void @mirror(ptr %0, i64 %103, i64 %102, i64 %105, i64 1)
  %106 = load i64, ptr %7, align 8
  %107 = add i64 %106, %2
  %108 = add i64 %107, -1
  %109 = icmp slt i64 %103, %108
  br i1 %109, label %100, label %110

110:
  ret void
}

define internal i64 @run_parts(ptr %0, i64 %1, i64 %2, ptr %3) nounwind {
  %5 = icmp slt i64 %1, %2
  br i1 %5, label %6, label %66

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 48
  br label %16

16:
  %17 = phi i64 [ %1, %6 ], [ %64, %63 ]
  %18 = load i64, ptr %7, align 8
  %19 = sdiv i64 %17, %18
  %20 = mul i64 %19, %18
  %21 = srem i64 %17, %18
  %22 = load i64, ptr %8, align 8
  %23 = load i64, ptr %9, align 8
  %24 = icmp sgt i64 %22, %23
  %25 = select i1 %24, i64 %21, i64 %19
  %26 = load i64, ptr %10, align 8
  %27 = mul i64 %25, %26
  %28 = select i1 %24, i64 %19, i64 %21
  %29 = load i64, ptr %11, align 8
  %30 = mul i64 %28, %29
  %31 = load i64, ptr %12, align 8
  %32 = icmp ne i64 %31, 0
  %33 = icmp slt i64 %27, %30
  %34 = select i1 %32, i1 %33, i1 false
  br i1 %34, label %63, label %35

35:
  %36 = sub i64 %23, %27
  %37 = tail call i64 @llvm.smin.i64(i64 %26, i64 %36)
  %38 = sub i64 %22, %30
  %39 = tail call i64 @llvm.smin.i64(i64 %29, i64 %38)
  %40 = load i64, ptr %13, align 8
  %41 = load i64, ptr %14, align 8
  %42 = icmp slt i64 %40, %41
  br i1 %42, label %43, label %53

43:
  %44 = phi i64 [ %49, %43 ], [ %41, %35 ]
  %45 = phi i64 [ %48, %43 ], [ %40, %35 ]
  %46 = sub i64 %44, %45
  %47 = tail call i64 @llvm.smin.i64(i64 %46, i64 480)
  tail call fastcc void @multiply_block(ptr %0, i64 %27, i64 %30, i64 %37, i64 %39, i64 %45, i64 %47)
  %48 = add i64 %45, 480
  %49 = load i64, ptr %14, align 8
  %50 = icmp slt i64 %48, %49
  br i1 %50, label %43, label %51

51:
  %52 = load i64, ptr %12, align 8
  br label %53

53:
  %54 = phi i64 [ %31, %35 ], [ %52, %51 ]
  %55 = phi i64 [ %41, %35 ], [ %49, %51 ]
  %56 = icmp ne i64 %54, 0
  %57 = icmp sgt i64 %27, %30
  %58 = select i1 %56, i1 %57, i1 false
  br i1 %58, label %59, label %63

59:
  %60 = load i64, ptr %15, align 8
  %61 = icmp eq i64 %55, %60
  br i1 %61, label %62, label %63

62:
  tail call fastcc void @mirror(ptr %0, i64 %27, i64 %30, i64 %37, i64 %39)
  br label %63

63:
  %64 = add nsw i64 %17, 1
  %65 = icmp eq i64 %64, %2
  br i1 %65, label %66, label %16

66:
  ret i64 0
}

declare i64 @llvm.smin.i64(i64, i64)

